import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { heightBetween, jsonView, shadowOf } from './setup.ts';

/** Narrower, both texts stand in one column. Pixels. */
const columnsWidth = 700;
const linesMaximum = 40;

/** Unchanged lines that are shown around a change. */
const collapseUnchanged = { margin: 3, minSize: 6 };

/** Shows two texts beside each other, with what differs. @returns How to remove it. */
export function showJsonDifference(host: HTMLElement, from: string, to: string): () => void {
  const root = shadowOf(host);
  const reading = (label: string) => [jsonView(label), heightBetween(3, linesMaximum), EditorState.readOnly.of(true)];
  if (host.clientWidth >= columnsWidth) {
    const view = new MergeView({
      parent: root,
      root,
      gutter: false,
      collapseUnchanged,
      a: { doc: from, extensions: reading('Earlier schema') },
      b: { doc: to, extensions: reading('Later schema') },
    });
    return () => view.destroy();
  }
  const view = new EditorView({
    parent: root,
    root,
    doc: to,
    extensions: [
      reading('Difference of the schemas'),
      unifiedMergeView({ original: from, mergeControls: false, gutter: false, collapseUnchanged }),
    ],
  });
  return () => view.destroy();
}
