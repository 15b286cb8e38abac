using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Archives;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Derives fake keys at no cost, by a single hash of the request for every scheme.</summary>
internal sealed class FreeKeyDeriver : IKeyDeriver
{
    public DerivedKey Derive(KeyRequest request)
    {
        var hash = SHA512.HashData(Encoding.UTF8.GetBytes($"{request.Password}/{request.Salt}"));
        return request.Scheme == KeyScheme.Rar4
            ? new DerivedKey(hash.AsMemory(0, 16), hash.AsMemory(32, 16), ReadOnlyMemory<byte>.Empty)
            : new DerivedKey(hash.AsMemory(0, 32), ReadOnlyMemory<byte>.Empty, hash.AsMemory(48, 8));
    }
}
