import { idPicture } from '../id-picture.js';
import { clockPicture } from './clock-picture.js';
import { keyPicture } from './key-picture.js';
import { topologyPicture } from './topology-picture.js';

/** The pictures in docs/images that are drawn by a script without a browser, by their names. */
export const PICTURES: Readonly<Record<string, () => string | Promise<string>>> = {
  'id.svg': idPicture,
  'topology.svg': topologyPicture,
  'two-lanes.svg': clockPicture,
  'which-key.svg': keyPicture,
};
