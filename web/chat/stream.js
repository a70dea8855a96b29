// SPDX-License-Identifier: Apache-2.0
// The server's side: its models, and an answer as it comes.
"use strict";

class ApiError extends Error {
  constructor(message, status, code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

function headers(key) {
  return {"Content-Type": "application/json", ...(key ? {Authorization: `Bearer ${key}`} : {})};
}

async function failure(response) {
  let error = {};
  try {
    error = (await response.json()).error || {};
  } catch { /* no JSON: the status must do */ }
  return new ApiError(error.message || `The server answered with status ${response.status}.`, response.status, error.code);
}

async function listModels(key) {
  const response = await fetch("/v1/models", {headers: headers(key)});
  if (!response.ok) throw await failure(response);
  return (await response.json()).data;
}

// Events of a text/event-stream: the data of each.
async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    held += value;
    const parts = held.split("\n\n");
    held = parts.pop();
    for (const part of parts)
      for (const line of part.split("\n"))
        if (line.startsWith("data: ")) yield line.slice(6);
  }
}

// Calls onText(piece, isThought) as the answer grows; gives {finish, tokens}. Throws ApiError, or AbortError once `signal` says so.
async function answer(body, key, signal, onText) {
  const response = await fetch("/v1/chat/completions", {
    method: "POST", headers: headers(key), signal,
    body: JSON.stringify({...body, stream: true, stream_options: {include_usage: true}})});
  if (!response.ok) throw await failure(response);
  const said = {finish: "", tokens: 0};
  for await (const data of events(response.body)) {
    if (data === "[DONE]") break;
    const chunk = JSON.parse(data);
    if (chunk.error) throw new ApiError(chunk.error.message, 200, chunk.error.code);
    if (chunk.usage) said.tokens = chunk.usage.completion_tokens;
    for (const choice of chunk.choices) {
      if (choice.finish_reason) said.finish = choice.finish_reason;
      if (choice.delta.reasoning_content) onText(choice.delta.reasoning_content, true);
      if (choice.delta.content) onText(choice.delta.content, false);
    }
  }
  if (!said.finish) throw new ApiError("The connection broke before the answer was complete.", 0, "broken");
  return said;
}
