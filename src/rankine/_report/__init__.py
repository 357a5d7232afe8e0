"""Results as text, HTML, LaTeX and charts."""
