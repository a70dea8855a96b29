# SPDX-License-Identifier: Apache-2.0
# The target nereid_xgrammar: xgrammar's C++ core from the sources that scripts/fetch_xgrammar puts under build/, without
# its Python side. Nothing where they are not: llm/sample then refuses grammars.
set(xgrammar "${PROJECT_SOURCE_DIR}/build/xgrammar-0.2.9")
if(EXISTS "${xgrammar}/.complete")
  file(GLOB sources "${xgrammar}/cpp/*.cc" "${xgrammar}/cpp/support/*.cc" "${xgrammar}/cpp/converter_ext/*.cc")
  add_library(nereid_xgrammar STATIC ${sources})
  target_include_directories(nereid_xgrammar SYSTEM PUBLIC
    "${xgrammar}/include" "${xgrammar}/cpp" "${xgrammar}/3rdparty/picojson" "${xgrammar}/3rdparty/dlpack/include")
  # What it would print goes to llm/sample/xgrammar_log.cc.
  target_compile_definitions(nereid_xgrammar PUBLIC
    XGRAMMAR_ENABLE_CPPTRACE=0 XGRAMMAR_ENABLE_INTERNAL_CHECK=0 XGRAMMAR_LOG_CUSTOMIZE=1)
  # -O1: half the compile time of -O2; a mask takes microseconds either way.
  target_compile_options(nereid_xgrammar PRIVATE -w $<$<CONFIG:Release>:-O1>)
  target_link_libraries(nereid_xgrammar PRIVATE Threads::Threads)
  # Its headers take longer to read than most of its files: a third of the time when several files are one.
  set_target_properties(nereid_xgrammar PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
else()
  message(STATUS "xgrammar is not in build/ (scripts/fetch_xgrammar fetches it): grammars will be refused")
endif()
