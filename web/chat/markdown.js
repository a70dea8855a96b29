// SPDX-License-Identifier: Apache-2.0
// Markdown as models write it, to elements. Every text goes in as a text node: nothing a model says becomes HTML.
"use strict";

function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

// `code`, **bold**, *italic*, ~~struck~~; links show their text and where they lead.
function inline(text) {
  const out = [];
  const pattern = /(`+)([\s\S]*?[^`])\1(?!`)|\*\*([^\s*](?:[\s\S]*?[^\s])?)\*\*|\*([^\s*](?:[^*]*[^\s*])?)\*|~~([^~]+)~~|\[([^\]\n]+)\]\((https?:[^\s)]+)\)/g;
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    out.push(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] !== undefined) out.push(element("code", "", match[2].trim()));
    else if (match[3] !== undefined) out.push(element("strong", "", ...inline(match[3])));
    else if (match[4] !== undefined) out.push(element("em", "", ...inline(match[4])));
    else if (match[5] !== undefined) out.push(element("s", "", ...inline(match[5])));
    else {
      const link = element("a", "", match[6]);
      link.href = match[7];
      link.rel = "noreferrer noopener";
      link.target = "_blank";
      out.push(link);
    }
  }
  out.push(text.slice(at));
  return out.filter(one => one !== "");
}

function codeBlock(text) {
  const copy = element("button", "", "Copy");
  copy.type = "button";
  copy.addEventListener("click", () => copyText(text, copy));
  return element("div", "block", element("pre", "", element("code", "", text)), copy);
}

// A list is the lines that begin with a mark, and what is indented below them.
function listBlock(lines) {
  const ordered = /^\s*\d+[.)]\s/.test(lines[0]);
  const list = element(ordered ? "ol" : "ul");
  if (ordered) list.start = parseInt(lines[0], 10);
  const base = lines[0].match(/^\s*/)[0].length;
  let item = null, below = [];
  const close = () => {
    if (item && below.length) item.append(...blocks(below.join("\n")));
    below = [];
  };
  for (const line of lines) {
    const mark = line.match(/^(\s*)(?:[-*+]|\d+[.)])\s+(.*)$/);
    if (mark && mark[1].length <= base + 1) {
      close();
      item = element("li", "", ...inline(mark[2]));
      list.append(item);
    } else {
      below.push(line.replace(/^ {1,4}/, ""));
    }
  }
  close();
  return list;
}

function blocks(text) {
  const lines = text.split("\n"), out = [];
  const isMark = line => /^\s*(?:[-*+]|\d{1,3}[.)])\s+\S/.test(line);
  const isSpecial = line => /^(```|~~~|#{1,6}\s|>)/.test(line.trimStart()) || isMark(line) || /^\s*([-*_])\s*(\1\s*){2,}$/.test(line);
  for (let i = 0; i < lines.length;) {
    const line = lines[i];
    const fence = line.match(/^\s*(```+|~~~+)/);
    if (fence) {
      let end = i + 1;
      while (end < lines.length && !lines[end].trimStart().startsWith(fence[1])) ++end;
      out.push(codeBlock(lines.slice(i + 1, end).join("\n")));
      i = end + 1;
    } else if (/^\s*([-*_])\s*(\1\s*){2,}$/.test(line)) {
      out.push(element("hr"));
      ++i;
    } else if (/^#{1,6}\s/.test(line)) {
      const [, marks, title] = line.match(/^(#+)\s+(.*?)\s*#*$/);
      out.push(element(marks.length < 3 ? "h3" : "h4", "", ...inline(title)));
      ++i;
    } else if (line.trimStart().startsWith(">")) {
      let end = i;
      while (end < lines.length && lines[end].trimStart().startsWith(">")) ++end;
      out.push(element("blockquote", "", ...blocks(lines.slice(i, end).map(one => one.replace(/^\s*> ?/, "")).join("\n"))));
      i = end;
    } else if (isMark(line)) {
      let end = i + 1;
      const kind = one => /^\s*\d/.test(one), indent = one => one.match(/^\s*/)[0].length;
      const isOther = one => isMark(one) && indent(one) <= indent(line) && kind(one) !== kind(line);
      while (end < lines.length && !isOther(lines[end]) && !(lines[end].trim() === "" && isOther(lines[end + 1] || "")) && (isMark(lines[end]) || /^\s{2,}\S/.test(lines[end]) || (lines[end].trim() === "" && end + 1 < lines.length && (isMark(lines[end + 1]) || /^\s{2,}\S/.test(lines[end + 1]))))) ++end;
      out.push(listBlock(lines.slice(i, end).filter(one => one.trim() !== "")));
      i = end;
    } else if (line.trim() === "") {
      ++i;
    } else {
      let end = i + 1;
      while (end < lines.length && lines[end].trim() !== "" && !isSpecial(lines[end])) ++end;
      const paragraph = element("p");
      lines.slice(i, end).forEach((one, n) => paragraph.append(...(n ? [element("br")] : []), ...inline(one)));
      out.push(paragraph);
      i = end;
    }
  }
  return out;
}

async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}
