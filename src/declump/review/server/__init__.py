"""The page of a review, served to the browser of the person at this computer; needs the extra ``review``."""
