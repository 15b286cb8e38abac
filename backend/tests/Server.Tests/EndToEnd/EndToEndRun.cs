using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>
/// Tests that start the built server as a process and look at it from outside. One at a time: they share the machine with
/// the programs that they start, and some count connections and memory. Those that look at nothing but their own server, most of
/// which mostly wait, have the trait alone, and run side by side before these.
/// </summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class EndToEndRun
{
    /// <summary>Name of the collection, and value of the trait <c>Category</c> that <c>tools/test.sh</c> filters by.</summary>
    public const string Name = "EndToEnd";

    /// <summary>The same tests with their full length; <c>tools/test.sh --long</c> runs them.</summary>
    public const string Lengthy = "Long";
}
