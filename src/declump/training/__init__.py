"""What the trainings of all networks share; needs the extra ``train``."""
