"""`make bench`: the project's figures, all in one run, as medians and as ratios to what else can be measured beside
them.

Machines are shared and noisy: whatever is compared is measured in turn, A B A B, and never by a test.
"""
