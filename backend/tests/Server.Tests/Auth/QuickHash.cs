using System.Security.Cryptography;
using System.Text;

namespace Sluice.Server.Tests.Auth;

/// <summary>The stored form of a password with a single round, so that tests which are not about the hash do not wait for it.</summary>
internal static class QuickHash
{
    public static string Of(string password)
    {
        var salt = RandomNumberGenerator.GetBytes(16);
        var hash = Rfc2898DeriveBytes.Pbkdf2(Encoding.UTF8.GetBytes(password), salt, 1, HashAlgorithmName.SHA256, 32);
        return $"pbkdf2-sha256$1${Convert.ToBase64String(salt)}${Convert.ToBase64String(hash)}";
    }
}
