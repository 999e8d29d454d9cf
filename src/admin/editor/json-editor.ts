import { EditorState, RangeSet, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, GutterMarker, gutterLineClass } from '@codemirror/view';
import { heightBetween, jsonView, shadowOf, writing } from './setup.ts';

/** A text editor for JSON, with marked lines. */
export interface JsonEditor {
  readonly setText: (text: string) => void;
  /** Lines count from 1; others than those of the text are left out. */
  readonly markLines: (lines: readonly number[]) => void;
  /** Selects a line and gives it the focus. */
  readonly goToLine: (line: number) => void;
  readonly remove: () => void;
}

interface JsonEditorOptions {
  readonly label: string;
  readonly text: string;
  readonly linesMinimum: number;
  readonly linesMaximum: number;
  readonly onInput: (text: string) => void;
}

class WrongLine extends GutterMarker {
  override elementClass = 'is-wrong';
}

const wrongLine = new WrongLine();
const wrongText = Decoration.line({ class: 'is-wrong' });

const markEffect = StateEffect.define<readonly number[]>();

/** The beginnings of the marked lines. They move with their lines until the next marks. */
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, { effects, changes, state }) {
    const effect = effects.find((each) => each.is(markEffect));
    if (effect === undefined) return before.map(changes);
    const lines = [...new Set(effect.value)].filter((line) => line >= 1 && line <= state.doc.lines);
    return Decoration.set(
      lines.toSorted((left, right) => left - right).map((line) => wrongText.range(state.doc.line(line).from)),
    );
  },
  provide: (field) => [
    EditorView.decorations.from(field),
    gutterLineClass.compute([field], (state) => {
      const positions: number[] = [];
      for (const cursor = state.field(field).iter(); cursor.value !== null; cursor.next()) positions.push(cursor.from);
      return RangeSet.of(positions.map((position) => wrongLine.range(position)));
    }),
  ],
});

/** Puts an editor into an element. */
export function createJsonEditor(host: HTMLElement, options: JsonEditorOptions): JsonEditor {
  const root = shadowOf(host);
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        jsonView(options.label),
        writing(),
        heightBetween(options.linesMinimum, options.linesMaximum),
        marks,
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) options.onInput(state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText(text) {
      if (text === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    markLines(lines) {
      view.dispatch({ effects: markEffect.of(lines) });
    },
    goToLine(line) {
      const { from, to } = view.state.doc.line(Math.min(line, view.state.doc.lines));
      view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
      view.focus();
    },
    remove: () => view.destroy(),
  };
}
