"""Private choices, and whole private histograms made of them."""
