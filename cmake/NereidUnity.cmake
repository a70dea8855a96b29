# SPDX-License-Identifier: Apache-2.0
# nereid_unity(): the modules of many small files are compiled eight files at a time, because their headers take longer to
# read than they do: less than half of the work of a build from nothing. Call it when every target is known.
#
# Files of such a module share their unnamed namespaces, so what two of them name there differs, or is one thing in a
# header of its own. The presets dev, asan, tsan and fuzz compile file by file, and so tell whether each includes what it
# uses.
option(NEREID_UNITY "Compile several files of a module as one" OFF)

# Not among them: ops, whose files all name the same things in the same way, so that one reads like the other.
set(NEREID_UNITY_MODULES cli compile graph import_onnx import_onnx_ops llm_chat llm_run llm_sample llm_token passes
  runtime_net server_protocol_openai server_protocol_openai_endpoints)
# Programs of tests likewise, where their files name different things.
set(NEREID_UNITY_TESTS cli llm_token passes runtime_net server_net server_protocol_openai server_runner)

function(nereid_unity)
  if(NOT NEREID_UNITY)
    return()
  endif()
  list(TRANSFORM NEREID_UNITY_MODULES PREPEND nereid_ OUTPUT_VARIABLE targets)
  list(TRANSFORM NEREID_UNITY_TESTS APPEND _test OUTPUT_VARIABLE tests)
  foreach(target IN LISTS targets tests)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    endif()
  endforeach()
endfunction()
