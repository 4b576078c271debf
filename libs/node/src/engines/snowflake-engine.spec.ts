import { Saturation } from './snowflake-engine.js';

describe('Saturation', () => {
  it('is unknown before the first measurement', () => {
    expect(new Saturation(1_000, 0).share).toBeNull();
  });

  it('is what was issued since the last measurement, as a share of what one code can have', () => {
    const saturation = new Saturation(1_000, 5_000);
    saturation.measure(5_000, 15_000);
    expect(saturation.share).toBe(0.5);
    saturation.measure(5_000, 25_000);
    expect(saturation.share).toBe(0);
    saturation.measure(35_000, 35_000);
    expect(saturation.share).toBe(3);
  });

  it('leaves out renewals less than a second apart, and counts what they saw later', () => {
    const saturation = new Saturation(1_000, 0);
    saturation.measure(1_000, 1_000);
    saturation.measure(1_900, 1_999);
    expect(saturation.share).toBe(1);
    saturation.measure(2_000, 3_000);
    expect(saturation.share).toBe(0.5);
  });
});
