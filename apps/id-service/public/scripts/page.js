import { main } from './main.js';
import './theme.js';

document.addEventListener('DOMContentLoaded', main);
