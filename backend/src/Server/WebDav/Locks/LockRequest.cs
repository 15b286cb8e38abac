using System.Text;
using Sluice.Server.WebDav.Xml;

namespace Sluice.Server.WebDav.Locks;

/// <summary>The body of a LOCK request for a new lock (RFC 4918, section 14.11): <c>lockinfo (lockscope, locktype, owner?)</c>.</summary>
/// <param name="Owner">The complete element <c>owner</c>, or empty.</param>
internal sealed record LockRequest(LockScope Scope, string Owner)
{
    /// <summary>Maximum bytes of <c>owner</c>, because the lock table keeps it for the lifetime of the lock.</summary>
    public const int MaxOwnerBytes = 4096;

    /// <summary>Parses the body. Throws <see cref="DavXmlException"/> if it is invalid or requests anything but a write lock.</summary>
    public static LockRequest From(DavXmlElement root)
    {
        if (root.Name != DavName.Dav("lockinfo"))
            throw new DavXmlException("The root element is not lockinfo.");
        if (root.Child("locktype")?.Child("write") is null)
            throw new DavXmlException("The lock is not one for writing.");

        var scope = root.Child("lockscope");
        var asked = (scope?.Child("exclusive"), scope?.Child("shared")) switch
        {
            ({ }, null) => LockScope.Exclusive,
            (null, { }) => LockScope.Shared,
            _ => throw new DavXmlException("A lock is either exclusive or shared."),
        };
        var owner = root.Child("owner") is { } element ? DavXmlWriter.Write(element) : "";
        if (Encoding.UTF8.GetByteCount(owner) > MaxOwnerBytes)
            throw new DavXmlException("The owner of the lock is larger than 4 KiB.", StatusCodes.Status413PayloadTooLarge);
        return new LockRequest(asked, owner);
    }
}
