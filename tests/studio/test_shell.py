"""The studio as a program: who is let in, two browsers at once, and how it stops."""

import http.client
import signal
import socket
import urllib.parse

import pytest

from tests.studio.visitors import launched

pytestmark = pytest.mark.xdist_group("studio")


def asked(address, path=None, **headers):
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    connection.request("GET", parts.path if path is None else path, headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer, body


def upgraded(address, **headers):
    """The status of a web socket's handshake."""
    parts = urllib.parse.urlsplit(address)
    sent = {
        "Host": parts.netloc,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    } | headers
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as made:
        path = f"{parts.path}_nicegui_ws/socket.io/?EIO=4&transport=websocket&client_id=x"
        lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
        made.sendall("\r\n".join(lines).encode())
        return int(made.recv(100).split()[1])


def test_whoever_does_not_know_the_token_is_refused(address):
    assert asked(address)[0].status == 200
    for path in ("/", "/ask", "/" + "0" * 64 + "/", "/_nicegui_ws/socket.io/?EIO=4&transport=polling"):
        answer, body = asked(address, path)
        assert answer.status == 403
        assert "metricdp studio" in body
        assert answer.getheader("set-cookie") is None


def test_other_hosts_and_pages_are_refused(address):
    host = urllib.parse.urlsplit(address).netloc
    assert asked(address, Host="rebound.example")[0].status == 403
    assert asked(address, Host=f"rebound.example:{host.partition(':')[2]}")[0].status == 403
    assert asked(address, Origin="http://other.example")[0].status == 403
    assert asked(address, Origin="null")[0].status == 403
    assert asked(address, Origin=f"http://{host}")[0].status == 200


def test_web_sockets_are_checked_too(address):
    host = urllib.parse.urlsplit(address).netloc
    assert upgraded(address, Origin=f"http://{host}") == 101
    assert upgraded(address, Origin="http://other.example") == 403
    assert upgraded(address) == 403, "a browser always says where a web socket comes from"
    assert upgraded(address, Origin=f"http://{host}", Host="rebound.example") == 403
    token = urllib.parse.urlsplit(address).path
    assert upgraded(address.replace(token, "/" + "0" * 64 + "/"), Origin=f"http://{host}") == 403


def test_pages_may_load_from_nowhere_else(address):
    answer, body = asked(address)
    assert "default-src 'self'" in answer.getheader("content-security-policy")
    assert answer.getheader("referrer-policy") == "no-referrer"
    assert "HttpOnly" in answer.getheader("set-cookie")
    assert "SameSite=Strict" in answer.getheader("set-cookie")
    assert "https://" not in body


def test_two_browsers_do_not_mix(visit):
    one, two = visit(), visit()
    one.goto()
    two.goto()
    one.slider("Factor").press("End")
    one.shows("A factor 10 at 10")
    two.slider("Factor").press("Home")
    two.shows("A factor 1.1 at 10")
    one.goto()
    one.shows("A factor 10 at 10")
    two.goto()
    two.shows("A factor 1.1 at 10")


def test_light_and_dark_are_kept(visit):
    visitor = visit()
    page = visitor.goto()
    for look, dark in (("dark", True), ("light", False)):
        page.get_by_role("button", name=look, exact=True).click()
        page.wait_for_function(f"document.body.classList.contains('body--dark') === {str(dark).lower()}")
        visitor.goto()
        page.wait_for_function(f"document.body.classList.contains('body--dark') === {str(dark).lower()}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_stops_cleanly_and_leaves_nothing_behind(tmp_path, monkeypatch, number):
    """A terminal that was closed, or a plain kill, left the files that were uploaded."""
    pytest.importorskip("nicegui")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "here").mkdir()
    process, address = launched(folder=tmp_path / "here")
    assert asked(address)[0].status == 200
    assert [path for path in (tmp_path / "temporary").iterdir() if path.name.startswith(".metricdp-")]
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "The studio has stopped." in said
    assert "Traceback" not in said
    assert not [path for path in (tmp_path / "temporary").iterdir() if path.name.startswith(".metricdp-")]
    assert list((tmp_path / "here").iterdir()) == []


def test_a_port_that_is_taken_is_said(address):
    port = urllib.parse.urlsplit(address).port
    with pytest.raises(AssertionError, match="nothing can listen on port"):
        launched("--port", str(port))


def filled(name):
    """Types into the text of this name; what it holds."""

    def change(page):
        page.get_by_role("textbox", name=name, exact=True).fill("select count(*) from people")

    def read(page):
        return page.get_by_role("textbox", name=name, exact=True).input_value()

    return change, read


def moved(name):
    """Moves the slider of this name; where it is."""

    def change(page):
        page.get_by_role("slider", name=name, exact=True).press("End")

    def read(page):
        return page.get_by_role("slider", name=name, exact=True).get_attribute("aria-valuetext")

    return change, read


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "control"),
    [
        ("", moved("Factor")),
        ("sanitize", filled("Policy")),
        ("ask", filled("SQL")),
        ("best", moved("at a distance of")),
        ("estimate", filled("SQL")),
    ],
    ids=["meaning", "sanitize", "ask", "best", "estimate"],
)
def test_each_page_keeps_what_was_changed_and_takes_it_back(visit, axe, path, control):
    change, read = control
    visitor = visit()
    page = visitor.goto(path)
    before = read(page)
    change(page)
    visitor.until(lambda: read(page) != before)
    after = read(page)
    page.wait_for_timeout(700)  # a text is sent when nobody has typed for a moment
    visitor.goto(path)
    assert read(page) == after, "nothing is lost on a reload"
    visitor.button("Undo").click()
    visitor.until(lambda: read(page) == before)
    visitor.goto(path)
    assert read(page) == before
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert visitor.violations(axe) == []
        for width in (1024, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert visitor.fits()
            visitor.shot(f"{path or 'meaning'}-{scheme}-{width}")


def test_what_is_typed_right_before_a_reload_is_kept(visit):
    visitor = visit()
    page = visitor.goto("ask")
    page.wait_for_function("window.did_handshake")
    for number in range(5):
        field = page.get_by_role("textbox", name="SQL", exact=True)
        field.press("End")
        page.keyboard.type(f" {number}")
        page.reload()
        page.wait_for_function("window.did_handshake")
        assert field.input_value().endswith(f" {number}")
    page.keyboard.press("Tab")
    page.get_by_role("textbox", name="Account", exact=True).fill("city")
    page.get_by_role("link", name="Best mechanism").click()
    page.wait_for_function("window.did_handshake")
    page.go_back()
    page.wait_for_function("window.did_handshake")
    assert page.get_by_role("textbox", name="Account", exact=True).input_value() == "city"


def test_a_file_dropped_beside_its_control_leaves_the_page_alone(visit):
    visitor = visit()
    page = visitor.goto("sanitize")
    drop = """([place, text]) => {
        const data = new DataTransfer(), target = document.querySelector(place);
        data.items.add(new File([text], 'people.csv'));
        return target.dispatchEvent(
            new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    assert page.evaluate(drop, ["h1", "a,b\n1,2\n"]) is False, "the browser would open the file in place of the page"
    page.evaluate(drop, ["label.file .file-hint", "a,b\n1,2\n"])
    visitor.shows("people.csv: 2 columns. No value has been read.")


def test_names_with_signs_of_html_are_read_aloud_as_they_are(visit, tmp_path):
    (tmp_path / "people.csv").write_text('"pay & ""bonus""",b\n1,2\n')
    visitor = visit()
    page = visitor.goto("sanitize")
    visitor.upload("A table", tmp_path / "people.csv")
    page.get_by_role("region", name='pay & "bonus"', exact=True).wait_for()
    page.get_by_label('What pay & "bonus" is').select_option("drop")
    visitor.shows("it is left out")
    visitor.goto("best")
    page.get_by_role("region", name="4. Verify somebody's channel", exact=True).wait_for()


def test_the_keyboard_stays_where_it_is_after_undo_and_after_a_choice(visit, tmp_path):
    (tmp_path / "people.csv").write_text("name,age\nAnn,31\n")
    focused = "document.activeElement.getAttribute('aria-label') || document.activeElement.innerText"
    visitor = visit()
    page = visitor.goto("sanitize")
    visitor.upload("A table", tmp_path / "people.csv")
    page.get_by_label("What name is").focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_timeout(500)
    assert page.evaluate(focused) == "What name is"
    page.get_by_label("Can somebody have several rows?").focus()
    page.keyboard.press("ArrowDown")
    visitor.until(lambda: "[person]" not in page.get_by_role("textbox", name="Policy", exact=True).input_value())
    visitor.until(lambda: page.evaluate(focused) == "Can somebody have several rows?")
    visitor.button("Undo").focus()
    for _ in range(3):
        page.keyboard.press("Enter")
        visitor.shows("Taken back.")
        page.wait_for_timeout(300)
        assert "Undo" in page.evaluate(focused)
    assert page.get_by_text("That failed").count() == 0
