/** The commonest English words: who searches without leaving them out finds them first. */
export const STOP = new Set(
  `a about all am an and any are as at be been but by can could d did do does for from had has have he her his how i if in
  into is it its just ll m me my no not of on or our re s she should so some t than that the their them then there these
  they this those to us ve was we were what when where which who why will with would you your`.split(/\s+/),
);
