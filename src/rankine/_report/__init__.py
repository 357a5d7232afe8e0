"""Results as text, HTML, LaTeX and JSON."""
