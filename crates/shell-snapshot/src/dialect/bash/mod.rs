//! GNU bash: started as the user's login shell on a terminal, it prints its state with its own bulk listings; a shell
//! that runs a script reads the state through BASH_ENV.

mod capture;
mod demand;
mod functions;
mod indentation;
mod limits;
mod mend;
mod options;
mod read;
mod replay;
mod shell;
mod startup;
mod variables;
mod words;

pub(crate) use demand::Demand;
pub(crate) use shell::Bash;

#[cfg(test)]
mod tests;
