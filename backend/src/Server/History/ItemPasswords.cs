using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.History;

/// <summary>
/// Encrypts and decrypts the items' archive passwords. While the key file is lost, new passwords are stored in plain text, so that no item is refused. Rows
/// from earlier versions are also in plain text until they are encrypted.
/// </summary>
internal sealed class ItemPasswords(SecretBox box)
{
    public bool CanSeal => !box.IsLocked;

    /// <summary>Returns the stored form of a password; empty for none.</summary>
    /// <exception cref="StorageException">The key file cannot be read or created.</exception>
    public string Seal(string id, string password) =>
        password.Length == 0 || !CanSeal ? password : box.Seal(NameOf(id), password);

    /// <summary>Returns the plain password; empty if there is none or it cannot be decrypted.</summary>
    public string Open(ImportItem item) => FindPlain(item.Id, item.Password) ?? "";

    /// <summary>Returns the plain password; empty if there is none or the user has discarded the key.</summary>
    /// <exception cref="StorageException">The key file is lost, but may be restored.</exception>
    public string Require(string id, string kept)
    {
        if (FindPlain(id, kept) is { } password)
            return password;
        box.RequireKey();
        return "";
    }

    /// <summary>Returns the plain password; empty if there is none, null if it cannot be decrypted.</summary>
    public string? FindPlain(string id, string kept) => SecretBox.IsSealed(kept) ? box.Open(NameOf(id), kept) : kept;

    private static string NameOf(string id) => "password/" + id;
}
