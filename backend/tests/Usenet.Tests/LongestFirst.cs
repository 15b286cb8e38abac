using System.Reflection;
using Xunit.Sdk;
using Xunit.v3;

namespace Sluice.Testing;

/// <summary>Says how long a class of tests takes, so that <see cref="LongestFirst"/> starts it early.</summary>
/// <param name="tests">The class. It names no collection.</param>
/// <param name="seconds">On two quiet cores, in a run of all. A class that takes less than ten need not be named.</param>
[AttributeUsage(AttributeTargets.Assembly, AllowMultiple = true)]
internal sealed class TakesAttribute(Type tests, int seconds) : Attribute
{
    public Type Tests => tests;

    public int Seconds => seconds;
}

/// <summary>
/// Starts the longest classes first. A class that waits for a minute and is started last leaves a core idle for that minute, because
/// nothing is left to run beside it.
/// </summary>
public sealed class LongestFirst : ITestCollectionOrderer
{
    private static readonly Dictionary<string, int> Seconds = typeof(LongestFirst).Assembly.GetCustomAttributes<TakesAttribute>()
        .ToDictionary(named => $"Test collection for {named.Tests.FullName}", named => named.Seconds);

    /// <inheritdoc/>
    public IReadOnlyCollection<T> OrderTestCollections<T>(IReadOnlyCollection<T> testCollections)
        where T : ITestCollection =>
        [.. testCollections.OrderByDescending(SecondsOf).ThenBy(collection => collection.UniqueID, StringComparer.Ordinal)];

    // The name ends with an id in parentheses.
    private static int SecondsOf<T>(T collection)
        where T : ITestCollection => Seconds.GetValueOrDefault(collection.TestCollectionDisplayName.Split(" (")[0]);
}
