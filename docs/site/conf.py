# SPDX-License-Identifier: Apache-2.0
# Sphinx's settings for the documentation site. ./dev docs copies the documents into one folder and runs it; every warning
# is an error there. Nothing is loaded from the network: the theme's fonts are the system's.
import os

project = 'HBF'
version = release = os.environ.get('HBF_VERSION', '')
author = 'the Triple-H authors'
language = 'en'

extensions = ['myst_parser']
root_doc = 'index'
source_suffix = {'.md': 'markdown'}
myst_heading_anchors = 4
nitpicky = True
highlight_language = 'none'

html_theme = 'furo'
html_title = f'HBF {version}'
html_static_path = ['static']
html_css_files = ['site.css']
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_last_updated_fmt = None
