"""
What drives film ratings?
=========================
"""

# %%
# Text.
print(1)
