# SPDX-License-Identifier: BSD-2-Clause
# Weir as a component of ESP-IDF, which comes here twice: without a compiler, to ask what it requires, and to build it.
get_filename_component(_weir_packaging "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
idf_component_register(KCONFIG "${_weir_packaging}/esp-idf/Kconfig")
if(NOT CMAKE_BUILD_EARLY_EXPANSION)
    include("${_weir_packaging}/cmake/kconfig.cmake")
    idf_build_get_property(_weir_answers CONFIG_DIR)
    weir_from_kconfig("${_weir_answers}/sdkconfig.h")
    target_link_libraries(${COMPONENT_LIB} INTERFACE ${WEIR_CHOSEN})
endif()
