"""The paper's ablations F and M: other ways to find the shapes of a clump."""
