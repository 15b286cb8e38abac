using System.Reflection;
using Xunit.Sdk;
using Xunit.v3;

namespace Sluice.Testing;

/// <summary>Declares the duration of a test class, so that <see cref="LongestFirst"/> starts it early.</summary>
/// <param name="tests">The class, which must not be in a named collection.</param>
/// <param name="seconds">Duration on two quiet cores, in a run of all tests. Classes under ten seconds need no entry.</param>
[AttributeUsage(AttributeTargets.Assembly, AllowMultiple = true)]
internal sealed class TakesAttribute(Type tests, int seconds) : Attribute
{
    public Type Tests => tests;

    public int Seconds => seconds;
}

/// <summary>
/// Starts the longest classes first. If a class that waits for a minute started last, a core would be idle for that minute, because no
/// other class would be left.
/// </summary>
public sealed class LongestFirst : ITestCollectionOrderer
{
    private static readonly Dictionary<string, int> Seconds = typeof(LongestFirst).Assembly.GetCustomAttributes<TakesAttribute>()
        .ToDictionary(named => $"Test collection for {named.Tests.FullName}", named => named.Seconds);

    /// <inheritdoc/>
    public IReadOnlyCollection<T> OrderTestCollections<T>(IReadOnlyCollection<T> testCollections)
        where T : ITestCollection =>
        [.. testCollections.OrderByDescending(SecondsOf).ThenBy(collection => collection.UniqueID, StringComparer.Ordinal)];

    // The display name ends with an id in parentheses.
    private static int SecondsOf<T>(T collection)
        where T : ITestCollection => Seconds.GetValueOrDefault(collection.TestCollectionDisplayName.Split(" (")[0]);
}
