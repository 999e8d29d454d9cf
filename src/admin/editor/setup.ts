import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/**
 * The place of an editor. Its styles are made while it runs, which the policy of the page allows only in a shadow
 * root: there, a browser takes them as objects, and not as text in the document.
 */
export function shadowOf(host: HTMLElement): ShadowRoot {
  return host.shadowRoot ?? host.attachShadow({ mode: 'open' });
}

const lineHeight = 18;

/** The colors are those of the page, in both of its themes. */
const theme = EditorView.theme({
  '&': { backgroundColor: 'var(--code)', color: 'var(--text)', fontSize: '12.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: `${lineHeight}px`, overflow: 'auto' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 10px' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--code)',
    color: 'var(--muted)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '40px', padding: '0 8px' },
  '.cm-gutterElement.is-wrong': { backgroundColor: 'var(--bad)', color: 'var(--panel)' },
  '.cm-line.is-wrong': { backgroundColor: 'var(--bad-soft)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground, ::selection': {
    backgroundColor: 'var(--selection)',
  },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', color: 'inherit' },
  '.cm-changedLine, &.cm-merge-b .cm-changedLine': { backgroundColor: 'var(--good-soft)' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--bad-soft)' },
  '&.cm-merge-a .cm-changedText, &.cm-merge-b .cm-changedText, .cm-deletedText, .cm-changedText': {
    background: 'none',
    textDecoration: 'none',
  },
  '.cm-collapsedLines': { background: 'var(--accent-soft)', color: 'var(--text)' },
  // The sign of the library is in few fonts.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"⋮"' },
});

const highlighting = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
]);

/** How JSON looks, for reading and for writing. */
export function jsonView(label: string): Extension {
  return [
    lineNumbers(),
    highlightSpecialChars(),
    json(),
    syntaxHighlighting(highlighting),
    theme,
    EditorState.tabSize.of(2),
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', autocapitalize: 'off', tabindex: '0' }),
  ];
}

/** What writing needs beyond reading. The Tab key moves on to the next field, as everywhere. */
export function writing(): Extension {
  return [history(), bracketMatching(), keymap.of([...defaultKeymap, ...historyKeymap])];
}

/** The editor is as high as its text, within bounds. */
export function heightBetween(linesMinimum: number, linesMaximum: number): Extension {
  return EditorView.theme({
    '.cm-content, .cm-gutter': { minHeight: `${linesMinimum * lineHeight + 16}px` },
    '.cm-scroller': { maxHeight: `${linesMaximum * lineHeight + 16}px` },
  });
}
