using System.Security.Cryptography;
using System.Text;

namespace Sluice.Server.Auth;

/// <summary>Remembers credentials as MACs under a random key, so that the remembered values alone are useless for guessing passwords offline.</summary>
/// <remarks>Thread-safe. Marks of different instances never match.</remarks>
internal sealed class CredentialMark
{
    private readonly byte[] _key = RandomNumberGenerator.GetBytes(32);

    public UInt128 Of(string credential)
    {
        Span<byte> mac = stackalloc byte[HMACSHA256.HashSizeInBytes];
        HMACSHA256.HashData(_key, Encoding.UTF8.GetBytes(credential), mac);
        return BitConverter.ToUInt128(mac);
    }
}
