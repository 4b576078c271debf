import { ORDERS_VARIABLE, type ProcessOrders } from '../issuing-messages.js';

/** Issues IDs under a lease, or numbers: what a process of an engine's run does. */
const { numbers } = JSON.parse(process.env[ORDERS_VARIABLE]!) as ProcessOrders & { readonly numbers?: boolean };
void (numbers === true ? import('./number-process.js') : import('../issuing-process.js'));
