using System.Collections.Concurrent;
using System.Diagnostics.Tracing;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>
/// Samples the types of allocated objects: the runtime reports one object about every 100 KB, so a large object is reported more often than
/// a small one.
/// </summary>
internal sealed class AllocationSampler : EventListener
{
    private readonly ConcurrentQueue<(string Type, double Size)> _samples = new();

    public int Count => _samples.Count;

    /// <summary>Allocated objects per byte: each sample stands for as many objects as fit into its share of bytes.</summary>
    public double ObjectsPerByte => _samples.Average(static sample => 1 / sample.Size);

    /// <summary>Returns the sampled types of some namespaces, without the state machines of asynchronous methods.</summary>
    public IReadOnlyList<string> TypesOf(params string[] namespaces) =>
        [.. _samples.Select(static sample => sample.Type).Distinct().Where(type => namespaces.Any(each => type.StartsWith(each + '.', StringComparison.Ordinal)))];

    /// <summary>Returns the types with the most bytes, each with its share and the size of one object.</summary>
    public override string ToString() => string.Join(", ", _samples
        .GroupBy(static sample => sample.Type)
        .OrderByDescending(static type => type.Count())
        .Take(25)
        .Select(type => $"{type.Key} {100.0 * type.Count() / _samples.Count:0.0} % in {type.Average(static sample => sample.Size):0} bytes"));

    protected override void OnEventSourceCreated(EventSource eventSource)
    {
        const int Collector = 1;
        if (eventSource.Name == "Microsoft-Windows-DotNETRuntime")
            EnableEvents(eventSource, EventLevel.Verbose, (EventKeywords)Collector);
    }

    protected override void OnEventWritten(EventWrittenEventArgs eventData)
    {
        if (eventData.EventName?.StartsWith("GCAllocationTick", StringComparison.Ordinal) == true && eventData.Payload is [_, _, _, _, _, string type, _, _, ulong size, ..])
            _samples.Enqueue((type, size));
    }
}
