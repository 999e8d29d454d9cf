import { Lendstream } from '../../src/client/client.ts';
import { clusterUnderTest } from '../support/backend-under-test.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

/** The real service at an address that stays the same when it is killed and started again. */
export interface ServiceBehindProxy {
  readonly url: string;
  readonly proxy: TcpProxy;
  readonly lendstream: Lendstream;
  /** Kills the process without notice. */
  kill(): Promise<void>;
  /** Starts the next one on the same data. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** @param environment Further settings of the service. */
export async function startServiceBehindProxy(environment: Record<string, string> = {}): Promise<ServiceBehindProxy> {
  const folder = await temporaryFolder();
  const startOne = (): Promise<Service> => startService(folder, { ...clusterUnderTest(), ...environment });
  let service = await startOne();
  const targetOf = ({ url }: Service): { host: string; port: number } => {
    return { host: '127.0.0.1', port: Number(new URL(url).port) };
  };
  const proxy = await openTcpProxy(targetOf(service));
  const url = `http://127.0.0.1:${proxy.port}`;
  return {
    url,
    proxy,
    lendstream: new Lendstream({ url }),
    async kill() {
      proxy.setMode({ kind: 'cut' });
      await service.kill();
    },
    async start() {
      service = await startOne();
      proxy.setTarget(targetOf(service));
      proxy.setMode({ kind: 'pass' });
    },
    async close() {
      await proxy.close();
      await service.kill();
      await removeFolder(folder);
    },
  };
}
