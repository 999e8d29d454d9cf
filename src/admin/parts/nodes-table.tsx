import type { JSX } from 'preact';
import type { Responses } from '../../contract.ts';
import { formatCount } from '../formats.ts';
import { path } from '../navigation.ts';
import { Link } from './link.tsx';
import { Table, type Column } from './lists/table.tsx';
import { Time } from './time.tsx';

export type Nodes = NonNullable<Responses['getOverview']['nodes']>;
type Node = Nodes[number];

interface NodesTableProperties {
  /** null when they are not known at the moment. */
  readonly nodes: Nodes | null;
  /** The id of the process that answered. */
  readonly answering: string;
}

/** The processes of the installation, with what each of them holds. */
export function NodesTable({ nodes, answering }: NodesTableProperties): JSX.Element {
  return (
    <section class="panel flush" aria-label="Nodes">
      <h2>Nodes</h2>
      {nodes === null ? (
        <p class="muted">Not known at the moment.</p>
      ) : nodes.length === 0 ? (
        <p class="muted">No process has reported yet.</p>
      ) : (
        <Table label="Nodes" rows={nodes} keyOf={({ node_id: id }) => id} columns={columnsFor(answering)} />
      )}
    </section>
  );
}

function columnsFor(answering: string): readonly Column<Node>[] {
  return [
    {
      name: 'Node',
      cell: ({ node_id: id, host, address }) => (
        <span title={`${address}, ${id}`}>
          <span class="host-name">{host}</span>
          {portOf(address)}
          {id === answering ? <small class="muted"> (this one)</small> : null}
        </span>
      ),
    },
    { name: 'State', cell: (node) => <State node={node} />, keyword: true },
    { name: 'Roles', cell: ({ roles }) => roles.join(', '), keyword: true },
    { name: 'Version', cell: ({ version }) => version, keyword: true },
    { name: 'Started', cell: ({ started_at: at }) => <Time at={at} />, keyword: true },
    {
      name: 'Loan partitions',
      numeric: true,
      cell: held(
        ({ loan_partitions: count }) => count,
        `${path('event-types', 'lendstream.loan-commands')}/partitions`,
      ),
    },
    { name: 'Streams', numeric: true, cell: held(({ subscription_streams: count }) => count, '/subscriptions') },
    { name: 'Partitions', numeric: true, cell: held(({ stream_partitions: count }) => count) },
    { name: 'Other streams', numeric: true, cell: held(({ event_type_streams: count }) => count) },
  ];
}

/** Of a number that a lost process holds no more: nothing. */
function held(of: (node: Node) => number, to?: string): Column<Node>['cell'] {
  return (node) => {
    const count = of(node);
    if (node.state === 'lost') return <span class="muted">—</span>;
    return to === undefined || count === 0 ? formatCount(count) : <Link to={to}>{formatCount(count)}</Link>;
  };
}

function State({ node: { state, last_heard_at: at } }: { node: Node }): JSX.Element {
  if (state === 'ready') return <span class="tag good">ready</span>;
  if (state === 'not_ready') return <span class="tag warn">not ready</span>;
  return (
    <>
      <span class="tag bad">lost</span>{' '}
      <small>
        heard <Time at={at} />
      </small>
    </>
  );
}

/** The port of an address with its colon. */
function portOf(address: string): string {
  return /:\d+$/.exec(address)?.[0] ?? '';
}
