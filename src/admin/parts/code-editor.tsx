import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { LineFinding } from '../json-line-numbers.ts';

interface CodeEditorProperties {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly findings: readonly LineFinding[];
  /** Minimum and maximum number of visible lines before it scrolls. */
  readonly linesMinimum?: number;
  readonly linesMaximum?: number;
}

/**
 * A code editor with numbered lines that marks lines with findings. The findings are listed below it with links to
 * their lines.
 */
export function CodeEditor(properties: CodeEditorProperties): JSX.Element {
  const { label, value, onInput, findings, linesMinimum = 8, linesMaximum = 28 } = properties;
  const area = useRef<HTMLTextAreaElement>(null);
  const numbers = useRef<HTMLOListElement>(null);
  const listId = useId();
  const lineCount = value.split('\n').length;
  const wrongLines = new Set(findings.map(({ line }) => line));
  const syncScroll = (): void => {
    if (numbers.current !== null && area.current !== null) numbers.current.scrollTop = area.current.scrollTop;
  };
  useEffect(syncScroll);
  const goTo = (line: number): void => {
    const start = value
      .split('\n')
      .slice(0, line - 1)
      .reduce((sum, text) => sum + text.length + 1, 0);
    area.current?.focus();
    area.current?.setSelectionRange(start, start + (value.split('\n')[line - 1]?.length ?? 0));
  };
  return (
    <div class="field">
      <label htmlFor={`${listId}-text`} class="muted">
        {label}
      </label>
      <div class="editor">
        <div class="gutter" aria-hidden="true">
          <ol ref={numbers} style={{ position: 'absolute', inset: 0 }}>
            {Array.from({ length: lineCount }, (_, index) => (
              <li key={index} class={wrongLines.has(index + 1) ? 'wrong' : undefined}>
                {index + 1}
              </li>
            ))}
          </ol>
          <div style={{ width: `${Math.max(40, 20 + String(lineCount).length * 9)}px` }} />
        </div>
        <textarea
          ref={area}
          id={`${listId}-text`}
          rows={Math.min(Math.max(lineCount, linesMinimum), linesMaximum)}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          aria-invalid={findings.length > 0}
          aria-describedby={listId}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          onScroll={syncScroll}
        />
      </div>
      <div id={listId} aria-live="polite">
        {findings.map(({ line, message }) => (
          <p key={`${line} ${message}`} class="wrong">
            <button type="button" class="quiet" onClick={() => goTo(line)}>
              Line {line}
            </button>
            : {message}
          </p>
        ))}
      </div>
    </div>
  );
}
