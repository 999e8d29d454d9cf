import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { JsonEditor } from '../editor/json-editor.ts';
import type { LineFinding } from '../json-line-numbers.ts';
import { laterModule } from '../later-module.ts';

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
 * An editor for JSON with numbered lines that marks lines with findings. The findings are listed below it with links to
 * their lines. Its code is loaded when the first one is shown.
 */
export function CodeEditor(properties: CodeEditorProperties): JSX.Element {
  const { label, value, onInput, findings, linesMinimum = 8, linesMaximum = 28 } = properties;
  const place = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<JsonEditor>();
  const latest = useRef({ value, onInput });
  latest.current = { value, onInput };
  const listId = useId();
  useEffect(() => {
    let isGone = false;
    let made: JsonEditor | undefined;
    void laterModule(() => import('../editor/json-editor.ts')).then(({ createJsonEditor }) => {
      if (isGone || place.current === null) return;
      made = createJsonEditor(place.current, {
        label,
        text: latest.current.value,
        linesMinimum,
        linesMaximum,
        onInput(text) {
          if (text !== latest.current.value) latest.current.onInput(text);
        },
      });
      setEditor(made);
    });
    return () => {
      isGone = true;
      made?.remove();
    };
  }, []);
  useEffect(() => editor?.setText(value), [editor, value]);
  const marked = findings.map(({ line }) => line).join(' ');
  useEffect(() => editor?.markLines(findings.map(({ line }) => line)), [editor, marked]);
  return (
    <div class="field">
      <span>{label}</span>
      <div
        ref={place}
        class={findings.length > 0 ? 'editor is-wrong' : 'editor'}
        {...(editor === undefined ? { style: { minHeight: `${linesMinimum * 18 + 18}px` } } : {})}
      />
      <div id={listId} aria-live="polite">
        {findings.map(({ line, message }) => (
          <p key={`${line} ${message}`} class="wrong">
            <button type="button" class="quiet" onClick={() => editor?.goToLine(line)}>
              Line {line}
            </button>
            : {message}
          </p>
        ))}
      </div>
    </div>
  );
}
