namespace Sluice.Tools.FullNzbTester.Cli;

/// <summary>The flags make no sense; the message is a sentence for the terminal.</summary>
internal sealed class UsageException(string message) : Exception(message);
