import type { KafkaRequest } from './request.ts';
import type { BrokerNode } from './metadata-request.ts';
import { WireReader, WireWriter } from './wire.ts';

interface FindCoordinatorResponse {
  readonly errorCode: number;
  /** Meaningless when there is an error. */
  readonly coordinator: BrokerNode;
}

/** FindCoordinator, version 2. */
export function findCoordinatorRequest(kind: CoordinatorType, key: string): KafkaRequest<FindCoordinatorResponse> {
  return {
    name: 'FindCoordinator',
    apiKey: 10,
    apiVersion: 2,
    encode: () =>
      new WireWriter()
        .string(key)
        .int8(kind === 'group' ? 0 : 1)
        .toBuffer(),
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      const errorCode = reader.int16();
      reader.nullableString(); // error message
      return { errorCode, coordinator: { nodeId: reader.int32(), host: reader.string(), port: reader.int32() } };
    },
  };
}

/** A consumer group or a transactional id: each has a coordinator. */
export type CoordinatorType = 'group' | 'transaction';
