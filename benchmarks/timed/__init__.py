"""What `make compare-speed` times in two commits, by asv: each class one stage, on simulated smears."""
