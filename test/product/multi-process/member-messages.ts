import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import type { DataSourceOptions } from 'typeorm';

/** Names the environment variable that holds a member's {@link MemberSetup}, as JSON. */
export const SETUP_VARIABLE = 'RAINDROP_TEST_MEMBER';

/** What a member is to run: an application with the real module. */
export interface MemberSetup {
  readonly database: DataSourceOptions;
  readonly options: SnowflakeModuleOptions;
  /** Ends on SIGINT as a Nest application does (`hooks`), or does not care (`ignore`). Default `hooks`. */
  readonly onSigint?: 'hooks' | 'ignore';
}

/** `issue`: so many IDs, little by little. `stream`: IDs until the end. `close`: give the worker back and end. */
export type MemberCommand =
  { readonly do: 'issue'; readonly count: number } | { readonly do: 'stream' } | { readonly do: 'close' };

export type MemberNews =
  | { readonly kind: 'ready'; readonly workerId: number }
  /** `isLast`: the command was carried out. */
  | { readonly kind: 'issued'; readonly ids: BigInt64Array; readonly isLast: boolean }
  | { readonly kind: 'closed' }
  | { readonly kind: 'failed'; readonly message: string };

/** News and who sends them. Threads of one process share their pid. */
export type MemberReport = MemberNews & { readonly pid: number; readonly threadId: number };
