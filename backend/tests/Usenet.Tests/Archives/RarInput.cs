using System.Collections.Concurrent;
using Sluice.Usenet.Archives;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Bytes in memory as the input of a reader, which counts reads.</summary>
internal sealed class RarInput(ReadOnlyMemory<byte> bytes) : IArchiveInput
{
    public long Length => bytes.Length;

    public ReadOnlyMemory<byte> Bytes => bytes;

    public ValueTask ReadAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        bytes.Slice((int)offset, buffer.Length).CopyTo(buffer);
        return ValueTask.CompletedTask;
    }
}

/// <summary>Reads volumes in memory.</summary>
internal static class RarRead
{
    private static readonly ConcurrentDictionary<string, ArchiveKeys> Known = [];

    public static RarPasswords NoPasswords { get; } = With();

    /// <summary>Returns passwords with fake keys that cost nothing.</summary>
    public static RarPasswords With(params string[] passwords) => new(new ArchiveKeys(passwords, new FreeKeyDeriver()));

    /// <summary>Returns passwords with the real keys of the formats, derived once for all tests.</summary>
    public static RarPasswords Real(params string[] passwords) =>
        new(Known.GetOrAdd(string.Join('\n', passwords), _ => new ArchiveKeys(passwords, new KeyDeriver())));

    public static async Task<RarVolume> Volume(ReadOnlyMemory<byte> bytes, RarPasswords? passwords = null, RarDepth depth = RarDepth.Whole) =>
        await RarVolumeReader.ReadAsync(
            new HeaderWindow(new RarInput(bytes), new ArchiveBudget()), passwords ?? NoPasswords, depth, TestContext.Current.CancellationToken);

    public static async Task<List<RarVolume>> Volumes(
        IEnumerable<byte[]> volumes, RarPasswords? passwords = null, RarDepth depth = RarDepth.Whole)
    {
        var read = new List<RarVolume>();
        foreach (var volume in volumes)
            read.Add(await Volume(volume, passwords, depth));
        return read;
    }

    /// <summary>Returns the fault of a failing action.</summary>
    public static async Task<ArchiveFault> FaultOf(Func<Task> action) => (await Assert.ThrowsAsync<ArchiveException>(action)).Fault;

    /// <summary>Returns the fault of volumes that do not join.</summary>
    public static ArchiveFault FaultOf(IReadOnlyList<RarVolume> volumes, RarPasswords? passwords = null) =>
        Assert.Throws<ArchiveException>(() => RarSet.Join(volumes, passwords ?? NoPasswords)).Fault;
}
