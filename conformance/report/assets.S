/* SPDX-License-Identifier: Apache-2.0 */
    .section .rodata
    .macro asset name, file
    .global hbf_asset_\name, hbf_asset_\name\()_end
    .hidden hbf_asset_\name
    .hidden hbf_asset_\name\()_end
hbf_asset_\name:
    .incbin "\file"
hbf_asset_\name\()_end:
    .endm

    asset page_css, HBF_PAGE_CSS
    asset page_js, HBF_PAGE_JS
#ifdef HBF_CHART_JS
    asset chart_js, HBF_CHART_JS
#else
    .global hbf_asset_chart_js, hbf_asset_chart_js_end
    .hidden hbf_asset_chart_js
    .hidden hbf_asset_chart_js_end
hbf_asset_chart_js:
hbf_asset_chart_js_end:
#endif
    .section .note.GNU-stack, "", %progbits
