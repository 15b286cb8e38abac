using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.History;

/// <summary>
/// Seals and opens the archive passwords of items. While the key file is lost, new passwords stay in plain text, so that no item is refused; rows
/// of earlier versions also stay so until they are sealed.
/// </summary>
internal sealed class ItemPasswords(SecretBox box)
{
    public bool CanSeal => !box.IsLocked;

    /// <summary>Returns the stored form of a password; empty for none.</summary>
    /// <exception cref="StorageException">The key file cannot be read or created.</exception>
    public string Seal(string id, string password) =>
        password.Length == 0 || !CanSeal ? password : box.Seal(NameOf(id), password);

    /// <summary>Returns the plain password; empty if there is none or it cannot be opened.</summary>
    public string Open(ImportItem item) => FindPlain(item.Id, item.Password) ?? "";

    /// <summary>Returns the plain password; empty if there is none or its key was given up.</summary>
    /// <exception cref="StorageException">The key file is lost, but may come back.</exception>
    public string Require(string id, string kept)
    {
        if (FindPlain(id, kept) is { } password)
            return password;
        box.RequireKey();
        return "";
    }

    /// <summary>Returns the plain password, empty for none; null if it cannot be opened.</summary>
    public string? FindPlain(string id, string kept) => SecretBox.IsSealed(kept) ? box.Open(NameOf(id), kept) : kept;

    private static string NameOf(string id) => "password/" + id;
}
