using Sluice.Usenet.Nntp;

namespace Sluice.Server.Tests.Providers;

/// <summary>Finds the terminator and discards the bytes.</summary>
internal sealed class DrainingSink : IArticleSink
{
    private const ulong Terminator = 0x0D0A_2E0D_0A;

    private ulong _lastFive;

    public void Start(int provider) => _lastFive = 0;

    public bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        consumed = 0;
        foreach (var value in raw)
        {
            consumed++;
            _lastFive = ((_lastFive << 8) | value) & 0xFF_FFFF_FFFF;
            if (_lastFive == Terminator)
                return true;
        }

        return false;
    }
}
