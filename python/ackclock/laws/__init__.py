"""Laws of growth of one's own: loaded, checked, held against recorded traces."""
