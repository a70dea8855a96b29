// SPDX-License-Identifier: Apache-2.0
// Six ways to write turns that most models were trained with. Each accepts a system message first.
#include "llm/chat/builtin_templates.h"

#include <algorithm>
#include <string>

namespace nereid::chat {
namespace {

constexpr BuiltinTemplate kTemplates[] = {
    {"chatml", R"({%- for message in messages -%}
{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\n' }}{%- endif -%})"},

    {"gemma", R"({%- set ns = namespace(system='') -%}
{{- bos_token -}}
{%- for message in messages -%}
{%- if message.role == 'system' -%}
{%- set ns.system = message.content | trim + '\n\n' -%}
{%- else -%}
{{- '<start_of_turn>' + ('model' if message.role == 'assistant' else message.role) + '\n' -}}
{{- ns.system + message.content | trim + '<end_of_turn>\n' -}}
{%- set ns.system = '' -%}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<start_of_turn>model\n' }}{%- endif -%})"},

    {"llama2", R"({%- set ns = namespace(system='') -%}
{%- for message in messages -%}
{%- if message.role == 'system' -%}
{%- set ns.system = '<<SYS>>\n' + message.content + '\n<</SYS>>\n\n' -%}
{%- elif message.role == 'assistant' -%}
{{- ' ' + message.content | trim + ' ' ~ eos_token -}}
{%- else -%}
{{- bos_token ~ '[INST] ' + ns.system + message.content | trim + ' [/INST]' -}}
{%- set ns.system = '' -%}
{%- endif -%}
{%- endfor -%})"},

    {"llama3", R"({{- bos_token -}}
{%- for message in messages -%}
{{- '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' + message.content | trim + '<|eot_id|>' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif -%})"},

    {"mistral", R"({%- set ns = namespace(system='') -%}
{{- bos_token -}}
{%- for message in messages -%}
{%- if message.role == 'system' -%}
{%- set ns.system = message.content + '\n\n' -%}
{%- elif message.role == 'assistant' -%}
{{- ' ' + message.content ~ eos_token -}}
{%- else -%}
{{- '[INST] ' + ns.system + message.content + ' [/INST]' -}}
{%- set ns.system = '' -%}
{%- endif -%}
{%- endfor -%})"},

    {"zephyr", R"({%- for message in messages -%}
{{- '<|' + message.role + '|>\n' + message.content ~ eos_token ~ '\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|assistant|>\n' }}{%- endif -%})"},
};

}  // namespace

std::span<const BuiltinTemplate> builtin_templates() {
  return kTemplates;
}

Result<ChatTemplate> builtin_template(std::string_view name) {
  const auto* row =
      std::find_if(std::begin(kTemplates), std::end(kTemplates), [&](const auto& t) { return t.name == name; });
  if (row != std::end(kTemplates)) return ChatTemplate::parse(std::string(row->source));
  std::string names;
  for (const BuiltinTemplate& t : kTemplates) names += (names.empty() ? "" : ", ") + std::string(t.name);
  return not_found("there is no built-in chat template '{}'; there are {}.", name, names);
}

}  // namespace nereid::chat
