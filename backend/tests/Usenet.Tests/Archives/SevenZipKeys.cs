using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Archives;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Derives keys of 7z from the format description alone, so that tests do not depend on the engine's code.</summary>
internal sealed class SevenZipKeys : IKeyDeriver
{
    private static readonly Dictionary<KeyRequest, DerivedKey> Known = [];

    private SevenZipKeys()
    {
    }

    /// <summary>Returns the real keys of some passwords, each derived once for all tests, because that takes a while.</summary>
    public static ArchiveKeys Of(params string[] passwords) => new(passwords, new SevenZipKeys());

    /// <summary>Returns fake keys of some passwords at no cost.</summary>
    public static ArchiveKeys Free(params string[] passwords) => new(passwords, new FreeKeys());

    public DerivedKey Derive(KeyRequest request)
    {
        lock (Known)
        {
            if (!Known.TryGetValue(request, out var key))
                Known.Add(request, key = new DerivedKey(Hash(request), default, default));
            return key;
        }
    }

    private static byte[] Hash(KeyRequest request)
    {
        var seed = Convert.FromHexString(request.Salt).Concat(Encoding.Unicode.GetBytes(request.Password)).ToArray();
        var round = new byte[seed.Length + sizeof(long)];
        seed.CopyTo(round, 0);
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        for (long i = 0; i < 1L << request.RoundsLog2; i++)
        {
            BinaryPrimitives.WriteInt64LittleEndian(round.AsSpan(seed.Length), i);
            hash.AppendData(round);
        }

        return hash.GetHashAndReset();
    }

    private sealed class FreeKeys : IKeyDeriver
    {
        public DerivedKey Derive(KeyRequest request) =>
            new(SHA256.HashData(Encoding.UTF8.GetBytes(request.Password)), default, default);
    }
}
