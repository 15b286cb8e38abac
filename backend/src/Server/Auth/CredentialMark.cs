using System.Security.Cryptography;
using System.Text;

namespace Sluice.Server.Auth;

/// <summary>
/// Turns credentials into the form in which they are remembered: a MAC under a key that only this object has, so that passwords cannot be tried
/// on what is remembered.
/// </summary>
/// <remarks>Thread-safe. Marks of two objects are never equal.</remarks>
internal sealed class CredentialMark
{
    private readonly byte[] _key = RandomNumberGenerator.GetBytes(32);

    /// <summary>Returns the mark of a credential; equal ones have the same.</summary>
    public UInt128 Of(string credential)
    {
        Span<byte> mac = stackalloc byte[HMACSHA256.HashSizeInBytes];
        HMACSHA256.HashData(_key, Encoding.UTF8.GetBytes(credential), mac);
        return BitConverter.ToUInt128(mac);
    }
}
