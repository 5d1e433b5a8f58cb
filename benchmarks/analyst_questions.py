"""60 questions that an analyst asks of the health table: each is answered, or refused with what to write instead."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "src" / "metricdp" / "cli" / "demo" / "data"

QUESTIONS = """
select count(*) from people
select count(1) as n from people where age >= 65
select count(*) from people p where p.sex = 'female' and p.age between 18 and 64
select count(*) from people where health in ('fair', 'poor')
select count(*) from people where health like '%oo%'
select count(*) from people where not (sex = 'male' or age < 18)
select count(*) from people where physical_limitation is null
select count(general_health) from people
select sex, count(*) from people group by sex
select health, count(*) as n from people group by health order by n desc
select health, count(*) from people group by 1 having count(*) > 400
select site, count(*) from people group by site order by count(*) limit 3
select sex, health, count(*) from people group by sex, health
select age, count(*) from people group by age
select coinsurance, count(*), avg(doctor_visits) from people group by coinsurance
select sum(doctor_visits) from people
select sum(income) from people where sex = 'female'
select avg(age) from people
select avg(income), sum(income) from people
select avg(age) from people group by sex
select round(avg(income), 0) as pay from people group by health
select sum(income) / count(*) as mean from people where sex = 'male'
select 100.0 * sum(case when health = 'poor' then 1 else 0 end) / count(*) as percent from people
select count(*) filter (where sex = 'female') as women, count(*) filter (where sex = 'male') as men from people
select avg(case when sex = 'female' then age end) as age_of_women from people
select sum(case when sex = 'female' then doctor_visits else 0 end) as visits from people
select case when age < 18 then 'child' when age < 65 then 'adult' else 'old' end b, count(*) from people group by b
select median(age) from people
select median(age) from people group by sex
select median(income) from people
select median(income) from people where sex = 'female'
select percentile(age, 0.25), percentile(age, 0.75) from people
select percentile_cont(0.9) within group (order by income) from people
select percentile_cont(age, 0.5) from people
select quantile(doctor_visits, 0.95) from people
select approx_quantile(general_health, 0.5) from people
select min(age), max(age) from people
select max(doctor_visits) from people
select min(income) from people group by sex
select median(mental_health) from people group by health
select median(family_size), avg(family_size) from people
select count(*) - sum(case when sex = 'male' then 1 else 0 end) as women from people
with adults as (select * from people where age >= 18) select count(*), median(age) from adults
select count(*) from (select age, sex from people where age >= 18) as adults where sex = 'male'
select count(*) from people where age in (20, 30, 40, 50, 60)
select hospital_admissions, count(*) from people group by hospital_admissions
select avg(hospital_admissions) from people where age >= 40
select sqrt(count(*)) from people where sex = 'female'
select count(*) as n from people group by health order by health desc
select AVG(Age) from People
select count(distinct age) from people
select stddev(income) from people
select corr(age, income) from people
select count(*) from people where income >= 20000
select * from people
select age from people where income > 10000
select count(*) from people join visits on people.id = visits.id
select distinct health from people
select count(*) over (partition by sex) from people
select avg(income * 2) from people
"""


def questions() -> list[str]:
    """One by one."""
    return [line for line in QUESTIONS.strip().splitlines() if line]


def ask_all() -> None:
    """Print the first answer of each, or why it is refused."""
    from metricdp.errors import MetricDPError
    from metricdp.policies import Policy
    from metricdp.queries import ask

    policy = Policy.load(DATA / "health_insurance.toml")
    answered = 0
    for number, question in enumerate(questions(), 1):
        try:
            answers = ask(DATA / "health_insurance.csv", policy, question)
            row = ", ".join(
                f"{one.value!s:.8} ± {one.error_bar:.3g}{'' if one.tells else ' ?'}" for one in answers.found[0]
            )
            told = f"{len(answers.found)} rows: {row}"
            answered += 1
        except MetricDPError as error:
            told = f"refused: {error}"
        print(f"{number:3} {question}\n      {told}")
    print(f"{answered} answered, {len(questions()) - answered} refused with a reason, of {len(questions())}")
