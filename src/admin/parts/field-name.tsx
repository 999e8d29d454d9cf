import type { JSX } from 'preact';

/** The name of a field as in the API; where space is short, it breaks between its words. */
export function FieldName({ name, muted = false }: { name: string; muted?: boolean }): JSX.Element {
  const words = name.split(/(?=[A-Z][a-z])/);
  return (
    <code class={muted ? 'muted' : undefined}>
      {words.map((word, index) => (index === 0 ? word : [<wbr key={index} />, word]))}
    </code>
  );
}
