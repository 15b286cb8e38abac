using Sluice.Testing;
using Xunit;

[assembly: AssemblyFixture(typeof(UnobservedExceptions))]
