namespace Sluice.Tools.FullNzbTester.Cli;

/// <summary>Thrown if the flags make no sense. The message is printed to the terminal.</summary>
internal sealed class UsageException(string message) : Exception(message);
