import { Registry } from 'prom-client';
import { RequestDurations } from './request-durations.js';

describe('RequestDurations', () => {
  it('counts by method, route and status, in buckets that include their upper boundary', async () => {
    const durations = new RequestDurations();
    const record = durations.recorderOf('/v1/ids/:id');
    expect(durations.recorderOf('/v1/ids/:id')).toBe(record);
    for (const seconds of [0, 0.001, 0.0011, 9, 11]) record('GET', 200, seconds);
    record('BREW', 405, 0.2);
    record('PROPFIND', 405, 0.2);
    const registry = new Registry();
    registry.registerMetric(durations.metric);
    const lines = (await registry.metrics()).split('\n');
    const of = (status: number, name: string): string[] =>
      lines
        .filter((line) => line.includes(`_${name}{`) && line.includes(`"${status}"`))
        .map((line) => line.replace(/^.*http_response_status_code="\d+",?/, '').replace('} ', ' '));
    expect(of(200, 'bucket')).toEqual([
      ...['le="0.001" 2', 'le="0.0025" 3', 'le="0.005" 3', 'le="0.01" 3', 'le="0.025" 3', 'le="0.05" 3', 'le="0.1" 3'],
      ...['le="0.25" 3', 'le="0.5" 3', 'le="1" 3', 'le="2.5" 3', 'le="5" 3', 'le="10" 4', 'le="+Inf" 5'],
    ]);
    expect([of(200, 'count'), of(200, 'sum')]).toEqual([[' 5'], [' 20.0021']]);
    expect(of(405, 'count')).toEqual([' 2']);
    expect(lines.filter((line) => line.includes('_OTHER') && line.includes('_count'))).toHaveLength(1);
  });
});
