using System.Runtime.InteropServices;
using Xunit;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>Memory between two protected pages: an access one byte too far on either side ends the process.</summary>
internal sealed unsafe partial class GuardedMemory : IDisposable
{
    private const int ProtNone = 0;
    private const int ProtReadWrite = 3;
    private const int MapPrivateAnonymous = 0x22;

    private readonly nint _mapping;
    private readonly nuint _size;
    private readonly int _page = Environment.SystemPageSize;
    private readonly int _length;

    public GuardedMemory(int pages)
    {
        _length = pages * _page;
        _size = (nuint)(_length + (2 * _page));
        _mapping = Map(0, _size, ProtReadWrite, MapPrivateAnonymous, -1, 0);
        Assert.NotEqual(-1, _mapping);
        Assert.Equal(0, Protect(_mapping, (nuint)_page, ProtNone));
        Assert.Equal(0, Protect(_mapping + _page + _length, (nuint)_page, ProtNone));
    }

    /// <summary>Returns the first bytes, directly after the lower guard.</summary>
    public Span<byte> First(int length) => All[..length];

    /// <summary>Returns the last bytes, directly before the upper guard.</summary>
    public Span<byte> Last(int length) => All[^length..];

    private Span<byte> All => new((byte*)_mapping + _page, _length);

    public void Dispose() => Assert.Equal(0, Unmap(_mapping, _size));

    [LibraryImport("libc", EntryPoint = "mmap", SetLastError = true)]
    private static partial nint Map(nint address, nuint length, int protection, int flags, int file, nint offset);

    [LibraryImport("libc", EntryPoint = "mprotect", SetLastError = true)]
    private static partial int Protect(nint address, nuint length, int protection);

    [LibraryImport("libc", EntryPoint = "munmap", SetLastError = true)]
    private static partial int Unmap(nint address, nuint length);
}
