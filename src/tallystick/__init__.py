"""Does this recurrent network really count?"""
__version__ = "0.1.0"
